// Runs before the first paint, so that the page has the right colours.
try {
  const theme = localStorage.getItem('plinth-theme');
  if (theme === 'dark' || theme === 'light') document.documentElement.dataset.theme = theme;
} catch {
  // Storage is switched off: the system's theme.
}
