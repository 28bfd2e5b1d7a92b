//! Numbers by hand.
