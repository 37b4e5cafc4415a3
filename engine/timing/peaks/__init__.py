"""The device's measured peaks: taken by the judge, kept between runs."""
