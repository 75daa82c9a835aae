/** The text that a value of a Secret holds; undefined for bytes that are no text. */
export function decodedText(base64: string): string | undefined {
  try {
    const bytes = Uint8Array.from(atob(base64), (letter) => letter.charCodeAt(0));
    const text = new TextDecoder('utf-8', { fatal: true }).decode(bytes);
    // biome-ignore lint/suspicious/noControlCharactersInRegex: these are what texts don't have
    return /[\u0000-\u0008\u000e-\u001f]/.test(text) ? undefined : text;
  } catch {
    return undefined;
  }
}

/** How many bytes a value has. */
export function byteText(base64: string): string {
  const padding = /=*$/.exec(base64)?.[0].length ?? 0;
  const bytes = Math.max(0, Math.floor((base64.length * 3) / 4) - padding);
  return bytes === 1 ? '1 byte' : `${bytes} bytes`;
}
