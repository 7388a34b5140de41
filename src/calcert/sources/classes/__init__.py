"""Tables and arrays with the probabilities of many classes."""
