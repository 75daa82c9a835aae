import { parentPort } from 'node:worker_threads';
import { yieldToMainThread } from '../../base/machinery/yield-to-main-thread.js';
import { readLogin, type UserCredentials } from './login.js';
import { LoginError } from './login-error.js';

/** The credentials in a text, or the reason why they can't be used. */
export type LoginAnswer = { readonly credentials: UserCredentials } | { readonly fault: string };

yieldToMainThread();
parentPort?.once('message', (text: string) => parentPort?.postMessage(answer(text)));

function answer(text: string): LoginAnswer {
  try {
    return { credentials: readLogin(text) };
  } catch (error) {
    if (error instanceof LoginError) return { fault: error.message };
    throw error;
  }
}
