import { execFileSync, spawn } from 'node:child_process';
import { mkdtempSync, readFileSync } from 'node:fs';
import { loadavg, tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { startBrowser } from '../test/console/console-tab.js';
import { freePort } from '../test/e2e/support/test-cluster.js';
import { endWithUs, removeWithUs } from '../test/support/child-guard.js';
import { mainFile } from '../test/support/main-file.js';
import { programEnvironment } from '../test/support/program-environment.js';
import { Clicks } from './console/clicks.js';
import { tasks } from './console/tasks.js';
import { theShop } from './console/the-shop.js';

/*
 * Ten tasks of a day in the console and with kubectl, over the simulated nodes of a `plinth dev` of its own: clicks and letters
 * from the overview, commands and their letters, and the seconds of the programs. `npm run bench:console -- [flags]`
 *   --pictures FOLDER   a picture of the console at the end of each task
 *   --only N            one task
 */
const { values: flags } = parseArgs({ options: { pictures: { type: 'string' }, only: { type: 'string' } } });

const folder = mkdtempSync(join(tmpdir(), 'plinth-tasks-'));
removeWithUs(folder);
const ports = [await freePort(), await freePort()];
const child = spawn(
  process.execPath,
  [
    mainFile,
    'dev',
    `--data-dir=${folder}`,
    '--simulated-nodes=3',
    `--secure-port=${ports[0]}`,
    `--console-port=${ports[1]}`,
  ],
  { env: programEnvironment(), stdio: ['ignore', 'pipe', 'ignore'] },
);
endWithUs(child);
await new Promise<void>((resolve, reject) => {
  let said = '';
  child.stdout.on('data', (chunk: Buffer) => {
    said += chunk.toString('utf8');
    if (said.includes('Try:')) resolve();
  });
  child.once('exit', (code) => reject(new Error(`plinth dev ended with ${code}`)));
});
const kubeconfig = join(folder, 'admin.kubeconfig');
const env = { PATH: process.env.PATH, HOME: folder, KUBECONFIG: kubeconfig };

/** Runs a line of the shell and returns what it prints. */
const shell = (line: string, input?: string): string =>
  execFileSync('sh', ['-c', line], { cwd: folder, env, encoding: 'utf8', input, stdio: ['pipe', 'pipe', 'inherit'] });

const load = () => loadavg()[0]?.toFixed(0);
console.log(
  `load ${load()}\n| Task | Console: clicks, letters, s | kubectl: commands, letters, s |\n| --- | --- | --- |`,
);
shell('kubectl apply -f -', theShop);
shell('kubectl -n shop rollout status deployment/web --timeout=120s');
const browser = await startBrowser();
try {
  const page = await (await browser.newContext({ viewport: { width: 1280, height: 800 } })).newPage();
  page.setDefaultTimeout(60_000);
  const clicks = new Clicks(page);
  await page.goto(`http://127.0.0.1:${ports[1]}/`);
  await page.fill('#login', readFileSync(kubeconfig, 'utf8'));
  await page.click('button[type=submit]');
  await page.waitForSelector('nav section');
  for (const [index, { name, prepare, inConsole, between, commands }] of tasks.entries()) {
    if (flags.only !== undefined && Number(flags.only) !== index + 1) continue;
    for (const line of prepare ?? []) shell(line);
    await clicks.begin();
    await inConsole(clicks, shell);
    const { count, letters, seconds } = clicks.end();
    if (flags.pictures !== undefined) await page.screenshot({ path: join(flags.pictures, `task-${index + 1}.png`) });
    for (const line of between ?? []) shell(line);
    const began = performance.now();
    for (const line of commands) shell(line);
    const took = (performance.now() - began) / 1000;
    const typed = commands.reduce((sum, line) => sum + line.length, 0);
    const byCommand = commands.length === 0 ? 'not without a copy' : `${commands.length}, ${typed}, ${took.toFixed(1)}`;
    console.log(`| ${name} | ${count}, ${letters}, ${seconds.toFixed(1)} | ${byCommand} |`);
  }
  console.log(`load ${load()}`);
} finally {
  await browser.close();
  child.kill('SIGTERM');
}
