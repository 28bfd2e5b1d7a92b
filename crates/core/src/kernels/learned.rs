//! State that a kernel has learned from its training examples, beyond its parameters: the letters of an alphabet,
//! the words of a vocabulary with their weights. It belongs to the model, and new examples are met with it as it is.

/// Words with numbers; a model file keeps it.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Learned {
    /// The words, in the order that the kernel gave them.
    pub words: Vec<String>,
    /// Numbers in an order that the kernel knows, such as as many for each word, word by word; none where the words are
    /// all there is.
    pub numbers: Vec<f64>,
}
