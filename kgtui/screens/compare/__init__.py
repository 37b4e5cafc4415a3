"""The Compare screen: two to four runs side by side."""
