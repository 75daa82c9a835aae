import { type ChildProcess, spawn } from 'node:child_process';

/**
 * Receives which children and folders the test process has, and cleans up when its input ends. That happens however the
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

function tell(line: string): void {
  if (guard === undefined) {
    // A group of its own, so that a Ctrl-C that ends the tests leaves it alone.
    guard = spawn('/bin/sh', ['-c', script], { stdio: ['pipe', 'ignore', 'ignore'], detached: true });
    guard.on('error', () => undefined);
    guard.stdin?.on('error', () => undefined);
    guard.unref();
    (guard.stdin as unknown as { unref(): void }).unref();
  }
  guard.stdin?.write(`${line}\n`);
}

/** Ends a process with the signal if it still runs when this one ends in any way, even by SIGKILL. */
export function endWithUs(child: ChildProcess, signal: 'KILL' | 'QUIT' = 'KILL'): void {
  const { pid } = child;
  if (pid === undefined) return;
  tell(`add ${pid} ${signal}`);
  child.once('exit', () => tell(`done ${pid}`));
}

/** Removes a folder of temporary files when this process ends before `forgetFolder`. */
export function removeWithUs(folder: string): void {
  // The lines of the guard are split at spaces; a folder that is left behind then is merely untidy.
  if (!/\s/.test(folder)) tell(`folder ${folder}`);
}

/** The folder was removed in the ordinary way. */
export function forgetFolder(folder: string): void {
  if (!/\s/.test(folder)) tell(`gone ${folder}`);
}
