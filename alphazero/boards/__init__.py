"""How positions and moves look in terminals and pictures, and as typed text."""
