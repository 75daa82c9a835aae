import { joiningGroup } from '../../../../base/config/bootstrap-groups.js';
import { tokenUsages } from '../../../../base/config/token.options.js';
import { systemClock } from '../../../../base/machinery/clock.js';
import type { ApiAccess } from '../../../../base/outgoing/api-access.js';
import { withAdminApi } from '../admin-api.js';
import { joinArguments } from '../join-arguments.js';
import { BootstrapTokens } from '../token/bootstrap-tokens.js';
import { TokenText } from '../token/token-text.js';

/** Marks the token, so that a repeated run finds it. */
const description = 'Made by plinth init.';
/** A token with less time left would expire before somebody uses it. */
const leastLifeMs = 600_000;

/** The arguments with which a node joins, with the token of an earlier run if that is still valid. */
export async function firstToken(access: ApiAccess, ttlMs: number, signal: AbortSignal): Promise<string> {
  return withAdminApi(access, 'plinth-init', signal, async (admin) => {
    const tokens = new BootstrapTokens(admin);
    const now = systemClock.now();
    const known = (await tokens.list()).find(
      (token) =>
        token.description === description && token.expiresAt - now > Math.min(leastLifeMs, ttlMs || leastLifeMs),
    );
    const wish = { token: TokenText.generate(), ttlMs, usages: tokenUsages, groups: [joiningGroup], description };
    const { token } = known ?? (await tokens.create(wish, now));
    return joinArguments(admin, token.toString());
  });
}
