"""A comparison of models as text, Markdown, JSON, CSV and one HTML file; contains no decisions."""
