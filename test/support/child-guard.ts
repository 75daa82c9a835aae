import { type ChildProcess, spawn } from 'node:child_process';

/**
 * Receives the children and folders of the test process, and cleans up when its input ends, which happens however the
 * test process dies. Lines: `add <pid> <signal>`, `done <pid>`, `folder <path>`, `gone <path>`.
 */
const script = `
pids= folders=
while read -r what first second; do
  case $what in
    add) pids="$pids $first:$second" ;;
    done) rest=; for one in $pids; do case $one in "$first":*) ;; *) rest="$rest $one" ;; esac; done; pids=$rest ;;
    folder) folders="$folders $first" ;;
    gone) rest=; for one in $folders; do [ "$one" = "$first" ] || rest="$rest $one"; done; folders=$rest ;;
  esac
done
for one in $pids; do kill -s "\${one#*:}" "\${one%%:*}" 2>/dev/null; done
[ -z "$folders" ] && exit 0
# Programs write files until they are gone.
sleep 1
for one in $folders; do rm -rf "$one"; done
`;

let guard: ChildProcess | undefined;

function send(line: string): void {
  if (guard === undefined) {
    // The guard has a process group of its own, so that a Ctrl-C that ends the tests does not end it.
    guard = spawn('/bin/sh', ['-c', script], { stdio: ['pipe', 'ignore', 'ignore'], detached: true });
    guard.on('error', () => undefined);
    guard.stdin?.on('error', () => undefined);
    guard.unref();
    (guard.stdin as unknown as { unref(): void }).unref();
  }
  guard.stdin?.write(`${line}\n`);
}

/** Makes sure that a child that still runs gets the signal when this process ends in any way, even by SIGKILL. */
export function endWithUs(child: ChildProcess, signal: 'KILL' | 'QUIT' = 'KILL'): void {
  const { pid } = child;
  if (pid === undefined) return;
  send(`add ${pid} ${signal}`);
  child.once('exit', () => send(`done ${pid}`));
}

/** Makes sure that a folder of temporary files is removed if this process ends before `forgetFolder`. */
export function removeWithUs(folder: string): void {
  // The guard splits its lines at spaces, so folders with spaces are left behind, which is merely untidy.
  if (!/\s/.test(folder)) send(`folder ${folder}`);
}

/** Records that the folder was removed in the ordinary way. */
export function forgetFolder(folder: string): void {
  if (!/\s/.test(folder)) send(`gone ${folder}`);
}
