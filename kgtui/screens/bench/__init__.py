"""The Bench screen: times over sizes, with roofline."""
