"""All papers at once: a place in the plane for each, clusters of even quality, and their names.

catalog ─▶ Gathered ─▶ projection, clustering, naming ─▶ TopicMap ─▶ drawing
"""

from rag.mapping.topicmap import Cluster, Point, TopicMap, map_of

__all__ = ["Cluster", "Point", "TopicMap", "map_of"]
