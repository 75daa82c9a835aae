/** Switches between light and dark and remembers it. */
export function toggleTheme(): void {
  const { dataset } = document.documentElement;
  const isDark = dataset.theme ? dataset.theme === 'dark' : matchMedia('(prefers-color-scheme: dark)').matches;
  dataset.theme = isDark ? 'light' : 'dark';
  try {
    localStorage.setItem('plinth-theme', dataset.theme);
  } catch {
    // Storage is switched off: the choice holds until the page is loaded again.
  }
}
