/** Gives the user a text as a file. */
export function downloadText(text: string, name: string, type: string): void {
  const url = URL.createObjectURL(new Blob([text], { type }));
  try {
    Object.assign(document.createElement('a'), { href: url, download: name }).click();
  } finally {
    URL.revokeObjectURL(url);
  }
}
