"""Lower bounds: functions of scores that show an error, found on some rows and judged by others."""
