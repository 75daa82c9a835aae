import assert from 'node:assert/strict';
import { existsSync } from 'node:fs';
import { type Browser, type BrowserContext, chromium, type Page, type Request } from 'playwright-core';

/** Where the browsers of Debian and others are; `PLINTH_TEST_BROWSER` names another. */
const places = ['/usr/bin/chromium', '/usr/bin/chromium-browser', '/usr/bin/google-chrome'];

/** The browser of the system. None is ever downloaded. */
export async function startBrowser(): Promise<Browser> {
  const path = process.env.PLINTH_TEST_BROWSER || places.find((place) => existsSync(place));
  assert.ok(path, 'there is no Chromium: install the package chromium, or name one in PLINTH_TEST_BROWSER');
  // Root has no sandbox to go into; the pages are our own.
  const args = process.getuid?.() === 0 ? ['--no-sandbox'] : [];
  return chromium.launch({ executablePath: path, args });
}

/** The text of the editor of YAML, in its shadow tree. */
export const editorContent = '.code .cm-content';

/** A tab of the console that fails when a foreign script runs, or when one of the console's own fails. */
export class ConsoleTab {
  /** What must not have happened. */
  readonly faults: string[] = [];

  /** The requests that have no end yet. */
  private readonly underWay = new Set<string>();

  private constructor(readonly page: Page) {}

  /** @param provider the address of an identity provider that the page may lead to, whose certificate is not known */
  static async open(browser: Browser, url: string, provider?: string): Promise<ConsoleTab> {
    const viewport = { width: 1280, height: 800 };
    const context = await browser.newContext({ viewport, ignoreHTTPSErrors: provider !== undefined });
    return ConsoleTab.openIn(context, url, provider);
  }

  /** One more tab of the same browser, with the cookies and the storage of this one. Both close together. */
  another(url: string): Promise<ConsoleTab> {
    return ConsoleTab.openIn(this.page.context(), url);
  }

  private static async openIn(context: BrowserContext, url: string, provider?: string): Promise<ConsoleTab> {
    const page = await context.newPage();
    page.setDefaultTimeout(30_000);
    const tab = new ConsoleTab(page);
    page.on('pageerror', (error) => tab.faults.push(`error: ${error.message}`));
    page.on('dialog', (dialog) => {
      tab.faults.push(`dialog: ${dialog.message()}`);
      void dialog.dismiss();
    });
    await page.exposeBinding('reportViolation', (_source, what: string) => tab.faults.push(what));
    await page.addInitScript({
      content: `addEventListener('securitypolicyviolation', (event) =>
        reportViolation('violation of ' + event.violatedDirective + ': ' + event.blockedURI + ' ' + event.sample));`,
    });
    page.on('console', (message) => {
      if (/Content Security Policy|Trusted/i.test(message.text())) tab.faults.push(message.text());
    });
    const hasEnded = (request: Request) => void tab.underWay.delete(`${request.method()} ${request.url()}`);
    page.on('requestfinished', hasEnded);
    page.on('requestfailed', hasEnded);
    page.on('request', (request) => {
      tab.underWay.add(`${request.method()} ${request.url()}`);
      const isOfProvider = provider !== undefined && request.url().startsWith(provider);
      if (!request.url().startsWith(url) && !isOfProvider) tab.faults.push(`request to ${request.url()}`);
    });
    await page.goto(url);
    return tab;
  }

  async login(text: string): Promise<void> {
    await this.page.fill('#login', text);
    await this.page.click('button[type=submit]');
    await this.page.waitForSelector('nav section');
  }

  /** Opens what a fragment names. */
  async show(fragment: string): Promise<void> {
    await this.run(`location.hash = ${JSON.stringify(fragment)}`);
  }

  /** Evaluates an expression in the page. */
  run<T = unknown>(expression: string): Promise<T> {
    return this.page.evaluate<T>(expression);
  }

  /**
   * Waits for an expression to be true. The page's policy lets no script compile others, so the test evaluates it from
   * outside.
   */
  async until(expression: string): Promise<void> {
    const limit = Date.now() + 30_000;
    while (!(await this.run<boolean>(expression))) {
      assert.ok(Date.now() < limit, `never: ${expression}`);
      await new Promise((resolve) => setTimeout(resolve, 50));
    }
  }

  async shows(text: string | RegExp, selector = 'body'): Promise<void> {
    await this.page
      .locator(selector)
      .filter({ hasText: text })
      .first()
      .waitFor()
      .catch(async (error: Error) => {
        const shown = await this.run<string>("document.querySelector('main')?.innerText ?? document.body.innerText");
        const begun = [...this.underWay].join(' ');
        throw new Error(
          `${error.message}\n${this.page.url()} waits for [${begun}] and shows:\n${shown.slice(0, 1500)}`,
        );
      });
  }

  /** Replaces what the editor of YAML holds. */
  async fillYaml(text: string): Promise<void> {
    const content = this.page.locator(editorContent);
    await content.click();
    await this.page.keyboard.press('Control+Home');
    await this.page.keyboard.press('Control+Shift+End');
    await this.page.keyboard.press('Delete');
    // As from the clipboard: many lines typed at once are no input of people.
    await this.run(`(() => {
      const clipboardData = new DataTransfer();
      clipboardData.setData('text/plain', ${JSON.stringify(text)});
      const paste = new ClipboardEvent('paste', { clipboardData, bubbles: true, cancelable: true });
      document.querySelector('.edit .code').shadowRoot.querySelector('.cm-content').dispatchEvent(paste);
    })()`);
    assert.equal(await this.yamlText(), text.trimEnd());
  }

  /** What the editor of YAML holds, without the space at its end: all of it for texts that need no scrolling. */
  async yamlText(): Promise<string> {
    const lines = await this.page.locator(`${editorContent} .cm-line`).allTextContents();
    return lines.join('\n').trimEnd();
  }

  /** Waits for the table of a kind to be whole and live. */
  async live(): Promise<void> {
    await this.page.waitForSelector('.count[data-state=live][data-complete=true]');
  }

  async close(): Promise<void> {
    await this.page.context().close();
  }
}
