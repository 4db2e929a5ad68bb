"""How positions and moves look: in terminals, in pictures, and as text that a person types."""
