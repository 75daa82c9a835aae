import { answerOfThread } from '../../base/machinery/answer-of-thread.js';
import { ThreadError } from '../../base/machinery/thread-error.js';
import { FairSeats } from './fair-seats.js';
import { readLogin, type UserCredentials } from './login.js';
import type { LoginAnswer } from './login.worker.js';
import { LoginError } from './login-error.js';

/** Shorter texts take some milliseconds at most, less than the start of a thread. */
const mostHere = 2048;
const limits = { milliseconds: 10_000, megabytes: 128 };
const seatLimits = { seats: 2, seatsOfUser: 1, waitingOfUser: 64, waitMs: 15_000 } as const;

/**
 * Reads what users paste to log in. Nobody is logged in yet, and some texts of 64 KiB take a reader of YAML half a second: so
 * long ones are read in threads, in fair turns.
 */
export class LoginReader {
  private readonly seats = new FairSeats(seatLimits);

  /**
   * Reads as {@link readLogin} does.
   *
   * @param address of the sender
   * @throws LoginError; NoSeat when others wait for too long
   */
  async read(address: string, text: string): Promise<UserCredentials> {
    if (text.length <= mostHere) return readLogin(text);
    const free = await this.seats.take(address);
    try {
      return await readInThread(text);
    } finally {
      free();
    }
  }
}

async function readInThread(text: string): Promise<UserCredentials> {
  const program = new URL('./login.worker.js', import.meta.url);
  const answer = await answerOfThread<LoginAnswer>(program, text, limits).catch((error: Error) => {
    if (error instanceof ThreadError) throw new LoginError('the text takes too much time or memory to read');
    throw error;
  });
  if ('fault' in answer) throw new LoginError(answer.fault);
  return answer.credentials;
}
