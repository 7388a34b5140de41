"""How far means and shares stray from what they estimate, and how bounds follow from it."""
