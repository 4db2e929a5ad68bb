"""TensorBoard: what a run reports, as curves, pictures, histograms and texts.

logger      writes the event file
scalars     the curves: tag, figure and description of each
charts      the layout of the tab Custom Scalars: a dozen charts chosen from the curves
hparams     the settings that a run changed, and its metrics, for the tab HPARAMS
summaries   TensorBoard's records of a curve, a picture and a histogram, with a description
"""
