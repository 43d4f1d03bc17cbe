// Looks every few minutes whether the accounts that settle payments have gas left: whoever pays for it wants to know before it is gone.
import type { Alerts } from '../core/alerts.ts'

interface SettlerState {
  readonly address: string
  readonly state: string
}

const LOOK_MS = 5 * 60_000
const LOW = new Set(['low_on_gas', 'out_of_gas', 'stuck'])

/** @returns what stops it */
export function watchSettlers(
  states: () => readonly { readonly settlers?: readonly SettlerState[] | undefined }[],
  alerts: Alerts,
): () => void {
  const look = () => {
    for (const { address, state } of states().flatMap(({ settlers }) => settlers ?? []))
      if (LOW.has(state))
        alerts.tell({
          kind: 'settler_low',
          accountId: undefined,
          about: `${address} ${state}`,
          data: { settler: address, state },
        })
  }
  const timer = setInterval(look, LOOK_MS)
  timer.unref()
  return () => clearInterval(timer)
}
