import assert from 'node:assert/strict';
import { it } from 'node:test';
import type { WebSocketRoute } from 'playwright-core';
import { eventually, tokens } from '../../e2e/support/test-cluster.js';
import { type ConsoleInBrowser } from '../console-in-browser.js';
import { hostileText, nothingRan } from '../hostile-objects.js';

/** The work of a day, and terminals. */
export function workCases(own: () => ConsoleInBrowser): void {
  const write = (method: string, path: string, body?: object) => own().write(method, path, body);

  it('does the work of a day with the rights of the user, and says what they lack', async () => {
    const template = (image: string) => ({
      metadata: { labels: { app: 'daily' } },
      spec: { containers: [{ name: 'app', image }] },
    });
    const selector = { matchLabels: { app: 'daily' } };
    const deployments = '/apis/apps/v1/namespaces/default/deployments';
    const deployment = { metadata: { name: 'daily' }, spec: { replicas: 1, selector, template: template('a:2') } };
    const { metadata } = (await write('POST', deployments, deployment)) as { metadata: { uid: string } };
    // No control loop of deployments runs here: the test makes what it would.
    for (const [name, revision] of [
      ['daily-1', '1'],
      ['daily-2', '2'],
    ] as const) {
      const owner = { apiVersion: 'apps/v1', kind: 'Deployment', name: 'daily', uid: metadata.uid, controller: true };
      const annotations = { 'deployment.kubernetes.io/revision': revision };
      await write('POST', '/apis/apps/v1/namespaces/default/replicasets', {
        metadata: { name, annotations, labels: { app: 'daily' }, ownerReferences: [owner] },
        spec: { replicas: 0, selector, template: template(`a:${revision}`) },
      });
    }
    await write('POST', '/apis/batch/v1/namespaces/default/cronjobs', {
      metadata: { name: 'nightly' },
      spec: {
        schedule: '0 0 1 1 *',
        jobTemplate: { spec: { template: { spec: { ...template('a:1').spec, restartPolicy: 'Never' } } } },
      },
    });
    const page = '#/object/apps/v1/deployments/default/daily';
    const live = async () => (await own().cluster.first.client.get(`${deployments}/daily`)).body;
    await own().inTab(async (tab) => {
      await tab.show(page);
      await tab.page.click('text=Scale…');
      await tab.page.fill('dialog input', '4');
      await tab.page.click('dialog button[type=submit]');
      await tab.page.waitForSelector('dialog', { state: 'detached' });
      await tab.shows('0 of 4 ready', '.state');
      await tab.page.click('.actions-bar >> text=Restart');
      await tab.page.click('dialog button[type=submit]');
      await tab.page.waitForSelector('dialog', { state: 'detached' });
      assert.match(JSON.stringify((await live()).spec), /restartedAt/);
      await tab.page.click('text=Pause rollout');
      await tab.page.click('text=Resume rollout');
      await tab.page.waitForSelector('text=Pause rollout');
      await tab.page.click('text=Roll back…');
      await tab.shows('a:2', 'dialog .removed');
      await tab.shows('a:1', 'dialog .added');
      await tab.page.click('text=Return to revision 1');
      await tab.page.waitForSelector('dialog', { state: 'detached' });
      assert.match(JSON.stringify((await live()).spec), /"image":"a:1"/);
      await tab.show('#/object/batch/v1/cronjobs/default/nightly');
      await tab.page.click('text=Run now');
      await tab.shows(/^nightly-manual-/, 'main h1');
      await tab.shows('Cron job nightly', '.headline');
    });
    await write('POST', '/apis/rbac.authorization.k8s.io/v1/namespaces/default/roles', {
      metadata: { name: 'looks' },
      rules: [{ apiGroups: ['apps'], resources: ['*'], verbs: ['get', 'list', 'watch'] }],
    });
    await write('POST', '/apis/rbac.authorization.k8s.io/v1/namespaces/default/rolebindings', {
      metadata: { name: 'looks' },
      roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'Role', name: 'looks' },
      subjects: [{ apiGroup: 'rbac.authorization.k8s.io', kind: 'User', name: 'alice' }],
    });
    await own().inTab(async (tab) => {
      await tab.show(page);
      for (const action of ['Scale…', 'Delete']) {
        const button = tab.page.locator(`.actions-bar button[aria-disabled=true]:has-text("${action}")`);
        await button.waitFor();
        assert.match((await button.getAttribute('title')) ?? '', /You may not (patch|delete) deployments.apps/);
      }
      await tab.page.click('text=Scale…', { force: true });
      assert.equal(await tab.page.locator('dialog').count(), 0);
    }, tokens.alice);
  });

  it('shows a program on a terminal, and nothing that it writes leaves the screen', async () => {
    await write('POST', '/api/v1/namespaces/default/pods', {
      metadata: { name: 'interactive' },
      spec: { containers: [{ name: 'app', image: 'example.com/app:1' }] },
    });
    await own().inTab(async (tab) => {
      const output = (text: string) => Buffer.concat([Buffer.of(1), Buffer.from(text)]);
      const received: string[] = [];
      const opened = new Promise<WebSocketRoute>((resolve) => {
        void tab.page.routeWebSocket(/\/exec\?/, (socket) => {
          socket.onMessage((message) => received.push(Buffer.from(message as Buffer).toString('latin1')));
          resolve(socket);
        });
      });
      await tab.show('#/object/core/v1/pods/default/interactive?tab=terminal');
      await tab.page.waitForSelector('.xterm-screen');
      await tab.page.fill('[aria-label=Command]', 'sh -l');
      await tab.page.click('text=/^Connect$/');
      const socket = await opened;
      assert.match(socket.url(), /container=app.*tty=true.*command=sh&command=-l$/);
      await eventually(() => received.some((each) => each.startsWith('\u0004{"Width":')), 'the size');
      const title = await tab.page.title();
      const link = '\u001b]8;;https://example.com/\u0007link\u001b]8;;\u0007';
      const clipboard = `\u001b]52;c;${Buffer.from('stolen').toString('base64')}\u0007\u001b]52;c;?\u0007`;
      socket.send(
        output(`\u001b]0;taken\u0007${clipboard}${link} \u001b[21t\u001b[38;2;255;0;0m${hostileText}\u001b[0m\r\n`),
      );
      socket.send(output('\u001b[1;32mgreen\u001b[0m $ '));
      await tab.shows('green', '.xterm-rows');
      await tab.shows('<img src=x', '.xterm-rows');
      assert.equal(await tab.page.title(), title);
      assert.equal(await tab.page.locator('.xterm-rows a, .xterm-rows [class*=underline]').count(), 0, 'no link');
      const typed = () => received.filter((each) => each.startsWith('\u0000')).join('');
      assert.equal(typed(), '', 'nothing is typed for the user');
      await tab.page.keyboard.type('ls\u0003');
      await tab.page.keyboard.press('Enter');
      await eventually(() => typed().endsWith('\r'), 'the keys');
      received.length = 0;
      await tab.page.setViewportSize({ width: 700, height: 700 });
      await eventually(() => received.some((each) => each.startsWith('\u0004')), 'the new size');
      await tab.page.keyboard.press('F6');
      await tab.until(`document.activeElement?.matches('.log-tools button') === true`);
      socket.send(Buffer.concat([Buffer.of(3), Buffer.from('{"status":"Failure","message":"exit code 3"}')]));
      await tab.shows('exit code 3', '.xterm-rows');
      await tab.page.waitForSelector('text=/^Connect$/');
      await nothingRan(tab);
    });
  });
}
