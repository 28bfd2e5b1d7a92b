//! On which line each example stands, kept only where lines do not simply follow each other.

/// Lines of examples, noted one by one.
#[derive(Debug, Default)]
pub(super) struct Lines {
    first: usize,
    count: usize,
    uneven: Option<Vec<u32>>,
}

impl Lines {
    /// Notes the line of the next example.
    pub(super) fn note(&mut self, line: usize) {
        if self.count == 0 {
            self.first = line;
        }
        if self.uneven.is_none() && line != self.first + self.count {
            self.uneven = Some((0..self.count).map(|i| (self.first + i) as u32).collect());
        }
        if let Some(lines) = &mut self.uneven {
            lines.push(u32::try_from(line).unwrap_or(u32::MAX));
        }
        self.count += 1;
    }

    /// Notes the lines of the examples that follow, counted from `before`.
    pub(super) fn append(&mut self, following: &Self, before: usize) {
        let first = before + following.first;
        match &following.uneven {
            Some(lines) => {
                let all = self.uneven.get_or_insert_with(|| (0..self.count).map(|i| (self.first + i) as u32).collect());
                all.extend(lines.iter().map(|&l| u32::try_from(before + l as usize).unwrap_or(u32::MAX)));
                if self.count == 0 {
                    self.first = first;
                }
                self.count += lines.len();
            }
            None if self.uneven.is_none() && (self.count == 0 || first == self.first + self.count) => {
                if self.count == 0 {
                    self.first = first;
                }
                self.count += following.count;
            }
            None => (0..following.count).for_each(|i| self.note(first + i)),
        }
    }

    /// Puts a line before all others.
    pub(super) fn prepend(&mut self, line: usize) {
        let mut all = Self::default();
        all.note(line);
        match &self.uneven {
            Some(lines) => lines.iter().for_each(|&l| all.note(l as usize)),
            None => (0..self.count).for_each(|i| all.note(self.first + i)),
        }
        *self = all;
    }

    /// Number of examples.
    pub(super) fn count(&self) -> usize {
        self.count
    }

    /// The first line, and all lines where they are uneven.
    pub(super) fn finish(self) -> (usize, Option<Vec<u32>>) {
        (self.first, self.uneven)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn even_lines_need_no_list() {
        let mut lines = Lines::default();
        for l in [2, 3, 4] {
            lines.note(l);
        }
        assert_eq!(lines.finish(), (2, None));
        let mut lines = Lines::default();
        for l in [3, 4, 7, 8] {
            lines.note(l);
        }
        lines.prepend(1);
        let mut more = Lines::default();
        [1, 2].iter().for_each(|&l| more.note(l));
        lines.append(&more, 8);
        assert_eq!(lines.finish(), (1, Some(vec![1, 3, 4, 7, 8, 9, 10])));
        let mut even = Lines::default();
        even.append(&more, 2);
        even.append(&more, 4);
        assert_eq!(even.finish(), (3, None));
    }
}
