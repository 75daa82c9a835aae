import { Module } from '@nestjs/common';
import { closedTokens, TOKEN_ISSUER, TOKEN_REVIEWER } from '../../base/machinery/tokens.js';

/**
 * Replaces the authentication module in processes that serve no requests: it authenticates no user and signs no token.
 */
@Module({
  providers: [
    { provide: TOKEN_REVIEWER, useValue: closedTokens },
    { provide: TOKEN_ISSUER, useValue: undefined },
  ],
  exports: [TOKEN_REVIEWER, TOKEN_ISSUER],
})
export class ClosedAuthenticationModule {}
