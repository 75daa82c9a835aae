/** Set in a process that was started again by {@link restartSmall}, and in its children. */
const marker = 'PLINTH_SMALL';

/**
 * Settings with which an idle process needs less memory: the engine's space for young objects stays small, all threads share one
 * area of the allocator, and the allocator takes blocks of 8 KiB and more from the kernel one by one. The compilers use many of
 * these for a moment each; in the shared area, a few small blocks that live longer would keep the memory around them.
 *
 * Nothing is compiled by the compilers that make the fastest code: an agent waits for others nearly all the time, and they and what they
 * note of each function need more memory than all pods.
 *
 * Measured with 30 idle pods, of all memory: 88 MiB with the compilers and 71 MiB without, for the same CPU time.
 */
const engineFlags = ['--max-semi-space-size=1', '--expose-gc', '--no-opt', '--no-maglev', '--optimize-for-size'];
const variables = {
  MALLOC_ARENA_MAX: '1',
  MALLOC_MMAP_THRESHOLD_: '8192',
  MALLOC_TRIM_THRESHOLD_: '65536',
  MALLOC_TOP_PAD_: '16384',
};

/** The command line of a process. */
export interface StartedWith {
  readonly program: string;
  readonly engineFlags: readonly string[];
  /** The script and its arguments. */
  readonly command: readonly string[];
  readonly variables: Readonly<Record<string, string | undefined>>;
}

/**
 * The command line of the restarted process; undefined if it was restarted already, or somebody has chosen settings for
 * its memory.
 */
export function smallStart(present: StartedWith): StartedWith | undefined {
  const isChosen = [...present.engineFlags, present.variables.NODE_OPTIONS ?? ''].some((flag) =>
    /semi[-_]space/.test(flag),
  );
  if (present.variables[marker] !== undefined || isChosen) return undefined;
  return {
    ...present,
    engineFlags: [...present.engineFlags, ...engineFlags],
    variables: { ...variables, ...present.variables, [marker]: '1' },
  };
}

/**
 * Restarts the program in this process, which keeps its id, files and parent, with settings that can't be changed
 * later. Does nothing where that is not possible; the process then only uses more memory.
 */
export function restartSmall(): void {
  const { execve, channel, execPath, execArgv, argv, env } = process;
  // A restart would lose a channel to the parent.
  if (execve === undefined || channel !== undefined) return;
  const start = smallStart({ program: execPath, engineFlags: execArgv, command: argv.slice(1), variables: env });
  if (start === undefined) return;
  try {
    const whole = Object.entries(start.variables).filter((entry): entry is [string, string] => entry[1] !== undefined);
    execve.call(
      process,
      start.program,
      [start.program, ...start.engineFlags, ...start.command],
      Object.fromEntries(whole),
    );
  } catch {
    // The program continues as it was started.
  }
}
