import type { Locator, Page } from 'playwright-core';

/** Somebody at the console, whose clicks and letters are counted. */
export class Clicks {
  private count = 0;
  private letters = 0;
  private began = 0;

  constructor(readonly page: Page) {}

  /** Goes to the overview, from where each task begins. */
  async begin(): Promise<void> {
    await this.page.evaluate(`location.hash = '#/'`);
    // Forgets the namespace that was chosen.
    await this.page.reload();
    await this.page.getByRole('heading', { name: 'The cluster' }).waitFor();
    [this.count, this.letters] = [0, 0];
    this.began = performance.now();
  }

  end(): { readonly count: number; readonly letters: number; readonly seconds: number } {
    return { count: this.count, letters: this.letters, seconds: (performance.now() - this.began) / 1000 };
  }

  async click(target: Locator): Promise<void> {
    await target.click();
    this.count++;
  }

  /** A link of the page with this text. */
  link(name: string): Promise<void> {
    return this.click(this.page.getByRole('link', { name, exact: true }).first());
  }

  /** A button of the page whose text begins so. */
  button(name: string): Promise<void> {
    return this.click(this.page.getByRole('button', { name: new RegExp(`^${name}`) }).first());
  }

  /** The button of the dialog that is open. */
  inDialog(name: string): Promise<void> {
    return this.click(this.page.getByRole('dialog').getByRole('button', { name: new RegExp(`^${name}`) }));
  }

  async tab(name: string): Promise<void> {
    await this.click(this.page.getByRole('tab', { name }));
  }

  async type(text: string): Promise<void> {
    await this.page.keyboard.insertText(text);
    this.letters += text.length;
  }

  /** Counts letters that went into a field which takes them only whole. */
  async fill(target: Locator, text: string): Promise<void> {
    await target.fill(text);
    this.letters += text.length;
  }

  async press(...keys: readonly string[]): Promise<void> {
    for (const key of keys) {
      await this.page.keyboard.press(key);
      this.letters++;
    }
  }

  /** Waits until the page shows a text. */
  async sees(text: string | RegExp): Promise<void> {
    await this.page.locator('main').getByText(text).first().waitFor();
  }
}
