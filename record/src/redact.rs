//! Takes recognisable secrets out of text before it is written anywhere (law L7).
