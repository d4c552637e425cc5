"""The web page, the only part that uses gradio: one module a tab, put together in `page`.

gradio takes seconds to import and reads its settings from the environment while it does: only
`mounting` decides when, and every module that needs it is imported after that.
"""
