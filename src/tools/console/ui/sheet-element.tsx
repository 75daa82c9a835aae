/**
 * Stands for a style element in a library that writes its styles as text: the build replaces the name. The content security
 * policy forbids style elements, and allows the constructed sheet that this one adds to the page while it is in it.
 */
class SheetElement extends HTMLElement {
  private readonly sheet = new CSSStyleSheet();

  override set textContent(text: string | null) {
    this.sheet.replaceSync(text ?? '');
  }

  override get textContent(): string {
    return '';
  }

  connectedCallback(): void {
    this.hidden = true;
    document.adoptedStyleSheets = [...document.adoptedStyleSheets, this.sheet];
  }

  disconnectedCallback(): void {
    document.adoptedStyleSheets = document.adoptedStyleSheets.filter((sheet) => sheet !== this.sheet);
  }
}

/** Makes the element known to the browser. */
export function defineSheetElement(): void {
  if (customElements.get('plinth-sheet') === undefined) customElements.define('plinth-sheet', SheetElement);
}
