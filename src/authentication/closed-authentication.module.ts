import { Module } from '@nestjs/common';
import { closedTokens, TOKEN_ISSUER, TOKEN_REVIEWER } from '../machinery/tokens.js';

/** In the place of the authentication module where nobody sends requests: knows nobody and signs nothing. */
@Module({
  providers: [
    { provide: TOKEN_REVIEWER, useValue: closedTokens },
    { provide: TOKEN_ISSUER, useValue: undefined },
  ],
  exports: [TOKEN_REVIEWER, TOKEN_ISSUER],
})
export class ClosedAuthenticationModule {}
