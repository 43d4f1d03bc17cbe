// How it goes with the tokens that are minted from a credential, and what helps where it does not.
import type { VNode } from 'preact'
import type { TokenHealth } from '../../../../../schemas/egress.ts'
import { Ltr } from '../../../site/components/foreign.tsx'
import { State, type StateName } from '../../../site/components/state.tsx'
import type { ConsoleContext } from '../../ports.ts'
import { credentialTexts } from '../../texts/credentials.ts'
import { Time } from '../table.tsx'

const LOOKS: Readonly<Record<TokenHealth['state'], StateName>> = {
  none: 'unknown',
  ready: 'done',
  ended: 'done',
  minting: 'waiting',
  failing: 'failed',
}

interface TokenStateProps {
  readonly tokens: TokenHealth
  readonly page: ConsoleContext
}

export function TokenState({ tokens, page }: TokenStateProps): VNode {
  const t = credentialTexts[page.language]
  const { state, failure } = tokens
  return (
    <section class="console-section">
      <h2>{t.health}</h2>
      <p>
        <State is={LOOKS[state]} page={page} words={t.healthStates[state]} />
      </p>
      {failure && <p>{t.reasons[failure.reason] ?? failure.reason}</p>}
      <dl class="pairs">
        {tokens.minted_at !== null && (
          <>
            <dt>{t.mintedAt}</dt>
            <dd>
              <Time at={tokens.minted_at} />
            </dd>
          </>
        )}
        {tokens.usable_until !== null && (
          <>
            <dt>{t.usableUntil}</dt>
            <dd>
              <Time at={tokens.usable_until} />
            </dd>
          </>
        )}
        {tokens.failures > 0 && (
          <>
            <dt>{t.failures}</dt>
            <dd>{tokens.failures}</dd>
          </>
        )}
        {failure && (
          <>
            <dt>{t.askedHost}</dt>
            <dd>
              <Ltr>{failure.host}</Ltr>
            </dd>
          </>
        )}
        {failure && (failure.status !== null || failure.oauth_error !== null) && (
          <>
            <dt>{t.answered}</dt>
            <dd>
              <Ltr class="mono">{`${failure.status ?? ''} ${failure.oauth_error ?? ''}`.trim()}</Ltr>
            </dd>
          </>
        )}
        {tokens.retry_at !== null && (
          <>
            <dt>{t.retryAt}</dt>
            <dd>
              <Time at={tokens.retry_at} />
            </dd>
          </>
        )}
      </dl>
    </section>
  )
}
