import assert from 'node:assert/strict';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { it } from 'node:test';
import { eventually, tokens } from '../../e2e/support/test-cluster.js';
import { type ConsoleInBrowser } from '../console-in-browser.js';
import { hostileAnswers, hostileObjects, hostileProperty, hostileText, nothingRan } from '../hostile-objects.js';

/** Attacks by what objects hold, and by other pages. */
export function hostileCases(own: () => ConsoleInBrowser): void {
  const write = (method: string, path: string, body?: object) => own().write(method, path, body);

  it('runs nothing that stands in objects, events, tables or errors', async () => {
    const made = await hostileObjects(write);
    await own().inTab(async (tab) => {
      for (const { fragment, shown } of made) {
        await tab.show(fragment);
        await tab.shows(shown, 'main');
      }
      const answers = hostileAnswers();
      for (const { path, fragment, shown, answer } of answers) {
        await tab.page.route(path, (route) => route.fulfill(answer));
        await tab.show(fragment);
        await tab.shows(shown, 'main');
        await tab.page.unroute(path);
      }
      await write('POST', '/api/v1/namespaces/default/pods', {
        metadata: { name: 'writes' },
        spec: { containers: [{ name: 'app', image: 'example.com/app:1' }] },
      });
      const log = { status: 200, contentType: 'text/plain', body: `\u001b[31m${hostileText}\u001b[0m\n` };
      await tab.page.route('**/pods/writes/log?*', (route) => route.fulfill(log));
      await tab.show('#/object/core/v1/pods/default/writes?tab=logs');
      await tab.shows('<img src=x', '.log-line');
      assert.doesNotMatch((await tab.page.textContent('.log-line')) ?? '', /\[31m/);
      await tab.show('#/object/hostile.example.com/v1/things/default/hostile?tab=yaml');
      await tab.shows('spec:', '.code');
      await tab.page.keyboard.press('E');
      await tab.page
        .locator('.edit .cm-line')
        .filter({ hasText: /^spec:/ })
        .click();
      await tab.page.keyboard.press('End');
      await tab.page.keyboard.press('Enter');
      await tab.page.keyboard.press('Shift+Home');
      await tab.page.keyboard.type('  x');
      await tab.page.keyboard.press('Control+Space');
      await tab.shows(hostileProperty, '.cm-tooltip-autocomplete');
      await tab.shows('<img src=x onerror="globalThis', '.cm-completionInfo');
      await nothingRan(tab);
      // The editor ignores the Enter key for a moment after a list of completions has changed; a click always counts.
      await tab.page.locator('.cm-tooltip-autocomplete li').filter({ hasText: hostileProperty }).first().click();
      await tab.shows(hostileProperty, '.edit .cm-line');
      await tab.page
        .locator('.edit .cm-line')
        .filter({ hasText: /^ +text:/ })
        .locator('span')
        .first()
        .hover();
      await tab.shows('<img src=x onerror="globalThis', '.cm-tooltip-hover');
      await nothingRan(tab);
      await tab.show('#/create');
      await tab.fillYaml(`apiVersion: v1\nkind: ${JSON.stringify(hostileText)}\n`);
      await tab.page.click('text=Try (dry run)');
      await tab.shows('<img src=x', '.outcomes');
      await tab.show(
        `#/list/core/v1/pods?ns=${encodeURIComponent(hostileText)}&labels=${encodeURIComponent(hostileText)}`,
      );
      await tab.page.waitForSelector('.problem');
      await tab.show(`#/map?ns=${encodeURIComponent(hostileText)}`);
      await tab.shows('<img', 'main h1');
      await nothingRan(tab);
    });
  });

  it('is stopped by its policy where all else fails', async () => {
    let arrived = 0;
    const elsewhere = createServer((_request, response) => {
      arrived++;
      response.end();
    });
    elsewhere.on('upgrade', () => arrived++);
    await new Promise<void>((resolve) => elsewhere.listen(0, '127.0.0.1', resolve));
    await own()
      .inTab(async (tab) => {
        const attempts = [
          `document.body.insertAdjacentHTML('beforeend', '<img src=x onerror="globalThis.hacked=1">')`,
          `document.body.innerHTML = '<script>globalThis.hacked=1</script>'`,
          `document.body.append(Object.assign(document.createElement('script'), { textContent: 'globalThis.hacked=1' }))`,
          `document.body.append(Object.assign(document.createElement('script'), { src: 'https://example.com/x.js' }))`,
          `new Function('globalThis.hacked=1')()`,
          `document.body.append(Object.assign(document.createElement('iframe'), { srcdoc: '<p>' }))`,
        ];
        for (const attempt of attempts) {
          // After this, since the test's own code may do more than scripts of the page.
          const outcome = await tab.run<string>(`new Promise((done) =>
          setTimeout(() => { try { ${attempt}; done('done'); } catch (error) { done(error.name); } }))`);
          assert.match(outcome, /TypeError|EvalError/, attempt);
        }
        const away = `http://127.0.0.1:${(elsewhere.address() as AddressInfo).port}/`;
        const blocked = await tab.run<string[]>(`Promise.all([
        fetch('${away}').then(() => 'fetched', () => 'blocked'),
        new Promise((done) => Object.assign(new Image(), { onload: () => done('shown'), onerror: () => done('blocked'), src: '${away}' })),
        new Promise((done) => { try { new WebSocket('${away.replace('http', 'ws')}').onerror = () => done('blocked'); } catch { done('blocked'); } }),
        new Promise((done) => {
          const style = document.body.appendChild(document.createElement('style'));
          style.textContent = 'body { --hacked: 1 }';
          done(getComputedStyle(document.body).getPropertyValue('--hacked') === '' ? 'blocked' : 'styled');
        }),
      ])`);
        assert.deepEqual(blocked, ['blocked', 'blocked', 'blocked', 'blocked']);
        assert.equal(await tab.run('globalThis.hacked'), undefined);
        await eventually(() => tab.faults.length > attempts.length, 'the browser to tell of each');
        assert.equal(arrived, 0, 'nothing was sent');
        tab.faults.length = 0;
      })
      .finally(() => elsewhere.close());
  });

  it('is shown in no frame of another page, and answers none', async () => {
    const { url } = own().running;
    const evil = createServer((_request, response) => {
      response.setHeader('content-type', 'text/html');
      response.end(`<iframe src="${url}"></iframe><script>
        globalThis.outcomes = Promise.all([
          fetch('${url}console/session', { credentials: 'include' }).then(() => 'answered', () => 'blocked'),
          fetch('${url}console/login', { method: 'POST', mode: 'no-cors', credentials: 'include', body: '{"login":"${tokens.admin}"}' })
            .then(({ type }) => type, () => 'blocked'),
        ]);
      </script>`);
    });
    await new Promise<void>((resolve) => evil.listen(0, '127.0.0.1', resolve));
    const context = await own().browser.newContext();
    try {
      const page = await context.newPage();
      await page.goto(`http://127.0.0.1:${(evil.address() as AddressInfo).port}/`);
      const outcomes = await page.evaluate<string[]>('globalThis.outcomes');
      assert.deepEqual(outcomes, ['blocked', 'blocked']);
      assert.deepEqual(await context.cookies(), []);
      for (const frame of page.frames().slice(1)) {
        assert.equal(await frame.locator('#app').count(), 0);
      }
    } finally {
      await context.close();
      evil.closeAllConnections();
      evil.close();
    }
  });
}
