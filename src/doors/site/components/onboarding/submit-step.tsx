// Last step: the service is offered, and what became of that.
import type { VNode } from 'preact'
import { useState } from 'preact/hooks'
import type { OwnListing } from '../../../../../schemas/market-seller.ts'
import { Code } from '../code.tsx'
import { Foreign } from '../foreign.tsx'
import { Link } from '../link.tsx'
import { State } from '../state.tsx'
import { ask, type Refusal } from './call.ts'
import type { Known } from './known.ts'
import { Refused, type StepProps } from './parts.tsx'

interface SubmitStepProps extends StepProps {
  readonly known: Known
  readonly learn: (more: Partial<Known>) => void
  readonly isSandbox: boolean
  readonly marketplace: string
}

export function SubmitStep({
  t,
  language,
  asking,
  known,
  learn,
  isSandbox,
  marketplace,
}: SubmitStepProps): VNode {
  const [why, setWhy] = useState<Refusal>()
  const [isBusy, setBusy] = useState(false)
  const { submit } = t
  const { listing } = known

  async function run<T>(
    method: 'GET' | 'POST',
    path: string,
    body: object | undefined,
    listingOf: (answer: T) => OwnListing | undefined,
  ): Promise<void> {
    setBusy(true)
    setWhy(undefined)
    const answer = await ask<T>(asking, method, path, body)
    setBusy(false)
    if (!answer.ok) return setWhy(answer.why)
    const found = listingOf(answer.body)
    if (found) learn({ listing: found })
  }
  const offer = () =>
    run<OwnListing>(
      'POST',
      '/seller/services/submit',
      { service_id: listing?.service_id },
      (answer) => answer,
    )
  const refresh = () =>
    run<{ services: OwnListing[] }>('GET', '/seller', undefined, ({ services }) =>
      services.find(({ service_id }) => service_id === listing?.service_id),
    )
  const name = `${listing?.seller}/${listing?.service_id}`
  const isActive = listing?.state === 'active'
  const isPending = listing?.state === 'pending'
  return (
    <>
      {!isActive && !isPending && <p class="muted">{submit.words}</p>}
      <div role="status" class="stack">
        {isActive && (
          <>
            <p>{submit.active}</p>
            <p>
              <Link to={`${marketplace}/${name}`} class="button primary">
                {submit.look}
              </Link>
            </p>
          </>
        )}
        {isPending && (
          <>
            <p>
              <State is="waiting" page={{ language }} /> {submit.pending}
            </p>
            {isSandbox && (
              <>
                <p>{submit.pendingSandbox}</p>
                <Code
                  text={`npx agent-gateway listings approve ${name} --reason "Looked at."`}
                  page={{ language }}
                  label="agent-gateway"
                />
              </>
            )}
          </>
        )}
        {listing?.state_reason && !isPending && (
          <p>
            <Foreign text={listing.state_reason} max={500} />
          </p>
        )}
      </div>
      {listing && (
        <div class="columns">
          {isActive && <Code text={listing.endpoint} page={{ language }} label={submit.endpoint} />}
          {(!isActive || listing.takes_test_money) && (
            <Code text={listing.test_endpoint} page={{ language }} label={submit.testEndpoint} />
          )}
        </div>
      )}
      <Refused why={why} />
      {!isActive && (
        <p>
          <button
            type="button"
            class="primary"
            disabled={isBusy}
            onClick={() => void (isPending ? refresh() : offer())}
          >
            {isPending ? submit.refresh : submit.submit}
          </button>
        </p>
      )}
    </>
  )
}
