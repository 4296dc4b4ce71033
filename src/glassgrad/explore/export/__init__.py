"""What the page shows, floor 8, as files that other programs show: pictures, films, formulas, flowcharts."""
