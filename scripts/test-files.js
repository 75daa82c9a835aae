import { spawn } from 'node:child_process';
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { availableParallelism, cpus, tmpdir } from 'node:os';
import { join } from 'node:path';

/** How long a file may take to stop after SIGTERM, in milliseconds. */
const graceMs = 10_000;
/** The interval at which the runner checks whether CPUs are idle, in milliseconds. */
const lookMs = 1000;
/** One more group starts if more than this share of all CPU time is idle. */
const idleShare = 0.15;
/** One more group starts only if this much memory is available. */
const roomyBytes = 3 * 2 ** 30;
/** How much of a group's output is kept: its end shows why a file failed. */
const outputLimit = 4 * 1024 * 1024;

/**
 * Runs groups of test files, each in its own process group, so that every process that it starts ends with it. The
 * output of a group is shown when it fails or takes too long. Files that leave handles open are reported: in a process
 * of their own they would not exit.
 *
 * @param groups in the order in which they start; `files` are paths, run one after the other in one process;
 *   `environment` are variables of that process, and `place` describes them after the name of the file
 * @param options.node the interpreter
 * @param options.root working directory
 * @param options.concurrency how many run at once
 * @param options.mostAtOnce how many run at once while there are idle CPUs
 * @param options.limitMs how long a file may take, in milliseconds; a group of three or more files may take three times
 *   as long
 * @param options.print receives complete lines of output
 * @param options.signal kills all running files and starts no more
 * @returns counts of tests, and how long each group took and how much CPU time its processes used, in seconds
 */
export async function runTestFiles(groups, options) {
  const { concurrency, mostAtOnce, print } = options;
  const total = { passed: 0, failed: 0 };
  const times = [];
  const waiting = [...groups];
  const count = groups.flatMap(({ files }) => files).length;
  let done = 0;
  let running = 0;
  const worker = async () => {
    for (let group = waiting.shift(); group !== undefined && !options.signal.aborted; group = waiting.shift()) {
      running++;
      const { files, place } = group;
      const outcome = await runGroup(group, options);
      running--;
      done += files.length;
      const more = files.length === 1 ? '' : ` and ${files.length - 1} more`;
      const file = `${files[0]}${more}${place === undefined ? '' : ` on ${place}`}`;
      total.passed += outcome.passed;
      total.failed += outcome.failed;
      times.push({
        file,
        files,
        seconds: outcome.seconds,
        processorSeconds: outcome.processorSeconds,
        suites: outcome.suites,
      });
      const failures = total.failed === 0 ? '' : `, ${total.failed} failed`;
      const seconds = `${done}/${count}${failures} ${outcome.seconds.toFixed(1).padStart(6)} s`;
      if (outcome.failed === 0) print(`${seconds}  ok      ${file} (${outcome.passed})`);
      else print(`${seconds}  FAILED  ${file}\n${outcome.output}\n${seconds}  FAILED  ${file}: ${outcome.why}`);
      for (const line of outcome.leftOpen) print(`${seconds}  LEFT    ${line}`);
      if (running >= concurrency) return;
    }
  };
  const workers = Array.from({ length: concurrency }, worker);
  const processors = new IdleProcessors();
  const look = setInterval(() => {
    const areIdle = processors.areIdle();
    if (areIdle && running < mostAtOnce && waiting.length > 0 && !options.signal.aborted) workers.push(worker());
  }, lookMs);
  // More workers may start while earlier ones finish.
  for (const one of workers) await one;
  clearInterval(look);
  return { ...total, times };
}

/**
 * Detects whether running files leave CPUs and memory idle: many of them wait for timers, sometimes all at the same
 * time.
 */
class IdleProcessors {
  #before = cpus();
  /** The CPU times are those of the whole machine: they are useless if this process may use only some of its CPUs. */
  #areOurs = cpus().length <= availableParallelism();

  areIdle() {
    const before = this.#before;
    this.#before = cpus();
    if (!this.#areOurs || process.availableMemory() < roomyBytes) return false;
    const spent = (times) => Object.values(times).reduce((sum, time) => sum + time, 0);
    let idle = 0;
    let all = 0;
    for (const [i, { times }] of this.#before.entries()) {
      idle += times.idle - (before[i]?.times.idle ?? 0);
      all += spent(times) - (before[i] === undefined ? 0 : spent(before[i].times));
    }
    return idle > idleShare * all;
  }
}

/** Starts the process of a group, which writes its results to `progress` and what it leaves open to `leftOpen`. */
function startGroup(files, environment, { node, root, progress, leftOpen }) {
  return spawn(
    node,
    [
      '--enable-source-maps',
      '--test-reporter=spec',
      '--test-reporter-destination=stdout',
      `--test-reporter=${join(root, 'scripts', 'test-reporter.js')}`,
      `--test-reporter-destination=${progress}`,
      // Handles that one file leaves open must not keep the process of several files alive.
      ...(files.length === 1 ? files : ['--test-force-exit', join(root, 'scripts', 'test-group.js'), ...files]),
    ],
    {
      cwd: root,
      stdio: ['ignore', 'pipe', 'pipe'],
      detached: true,
      env: {
        ...process.env,
        ...environment,
        ...(files.length === 1 ? {} : { PLINTH_TEST_GROUP: '1', PLINTH_TEST_LEFT_OPEN: leftOpen }),
      },
    },
  );
}

async function runGroup({ files, environment }, { node, root, limitMs, signal }) {
  const began = performance.now();
  const folder = mkdtempSync(join(tmpdir(), 'plinth-tests-'));
  const progress = join(folder, 'progress.jsonl');
  const leftOpen = join(folder, 'left-open');
  const child = startGroup(files, environment, { node, root, progress, leftOpen });
  const output = new Tail(outputLimit);
  child.stdout.on('data', (chunk) => output.add(chunk));
  child.stderr.on('data', (chunk) => output.add(chunk));

  let why;
  let grace;
  const end = (reason) => {
    why ??= reason;
    killGroup(child, 'SIGTERM');
    grace ??= setTimeout(() => killGroup(child, 'SIGKILL'), graceMs);
  };
  const groupLimitMs = limitMs * Math.min(files.length, 3);
  const limit = setTimeout(() => end(`not done after ${groupLimitMs / 1000} s`), groupLimitMs);
  const onAbort = () => end('the run was ended');
  signal.addEventListener('abort', onAbort);
  if (signal.aborted) onAbort();

  const how = await new Promise((resolve) => {
    child.once('error', (error) => resolve(error.message));
    child.once('exit', (code, killedBy) => resolve(code === 0 ? undefined : (killedBy ?? `exit code ${code}`)));
  });
  clearTimeout(limit);
  clearTimeout(grace);
  signal.removeEventListener('abort', onAbort);
  killGroup(child, 'SIGKILL');
  // A process that has left the group may still hold the pipes.
  if (!child.stdout.closed) await Promise.race([new Promise((resolve) => child.once('close', resolve)), pause(1000)]);
  child.stdout.destroy();
  child.stderr.destroy();
  const { passed, failed, processorSeconds, suites, unfinished, isComplete } = readProgress(progress);
  const left = existsSync(leftOpen) ? readFileSync(leftOpen, 'utf8').trimEnd().split('\n') : [];
  rmSync(folder, { recursive: true, force: true });
  why ??= how ?? (isComplete ? undefined : 'it ended before its tests did');
  if (why !== undefined && unfinished.length > 0) why += `; unfinished: ${unfinished.join(', ')}`;
  return {
    passed,
    // A group whose process fails counts as failed, whatever its counts.
    failed: why === undefined ? failed : Math.max(1, failed),
    why: why ?? `${failed} failed`,
    output: output.text(),
    leftOpen: left,
    processorSeconds,
    suites: Object.fromEntries(files.length === 1 ? [] : suites),
    seconds: (performance.now() - began) / 1000,
  };
}

/** Reads the lines of `test-reporter.js`; the result is empty if the process ended before it could write. */
function readProgress(path) {
  let counts;
  const unfinished = new Set();
  const suites = [];
  const lines = existsSync(path) ? readFileSync(path, 'utf8').split('\n') : [];
  // The last line is empty or incomplete.
  for (const line of lines.slice(0, -1)) {
    const entry = JSON.parse(line);
    if (entry.begun !== undefined) unfinished.add(entry.begun);
    else if (entry.done !== undefined) unfinished.delete(entry.done);
    else if (entry.suite !== undefined) suites.push([entry.suite, entry.seconds]);
    else counts = entry;
  }
  const isComplete = counts !== undefined;
  return { passed: 0, failed: 0, ...counts, suites, unfinished: [...unfinished], isComplete };
}

function killGroup({ pid }, signal) {
  try {
    if (pid !== undefined) process.kill(-pid, signal);
  } catch {
    // No process is left in the group.
  }
}

function pause(ms) {
  return new Promise((resolve) => setTimeout(resolve, ms));
}

/** Keeps the last part of output that may be long. */
class Tail {
  #chunks = [];
  #bytes = 0;
  #isCut = false;

  constructor(limit) {
    this.limit = limit;
  }

  add(chunk) {
    this.#chunks.push(chunk);
    this.#bytes += chunk.length;
    while (this.#bytes - this.#chunks[0].length > this.limit) {
      this.#bytes -= this.#chunks.shift().length;
      this.#isCut = true;
    }
  }

  text() {
    return `${this.#isCut ? '(the beginning is left out)\n' : ''}${Buffer.concat(this.#chunks).toString('utf8')}`;
  }
}
