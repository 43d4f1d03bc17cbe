// The keys of the gateway itself: what signs receipts, quotes and permits, and what wraps every stored credential.
import type { AuthorityRotation } from '../../../../schemas/authority.ts'
import type { SigningKeyRecord } from '../../../../schemas/signing-key.ts'
import { Foreign, Ltr } from '../../site/components/foreign.tsx'
import { State } from '../../site/components/state.tsx'
import { Act, Field, Form, Refusal } from '../components/form.tsx'
import { Said } from '../components/said.tsx'
import { Table, Time } from '../components/table.tsx'
import { type ConsoleContext, defineConsolePage } from '../ports.ts'
import { gatewayKeysTexts } from '../texts/gateway-keys.ts'

interface GatewayKeys {
  readonly keys: readonly SigningKeyRecord[]
  readonly rotation: AuthorityRotation | null
  readonly said: string | undefined
  readonly may_change: boolean
}

const CHANGED = '/console/gateway-keys?done='

export const page = defineConsolePage<GatewayKeys>({
  isWide: true,
  async load({ call, query, signedIn }) {
    const [{ keys }, { rotation }] = (await Promise.all([
      call('gateway.signing_keys.list', {}),
      call('gateway.authority.rotation', {}),
    ])) as [Pick<GatewayKeys, 'keys'>, Pick<GatewayKeys, 'rotation'>]
    const said = query.get('done') ?? undefined
    return { keys, rotation, said, may_change: ['owner', 'operator'].includes(signedIn.role) }
  },
  actions: {
    async rotate_signing(_form, { call }) {
      await call('gateway.signing_keys.rotate', {})
      return { goTo: `${CHANGED}signing` }
    },
    async retire(form, { call }) {
      await call('gateway.signing_keys.retire', { kid: form.get('kid') ?? '' })
      return { goTo: `${CHANGED}retired` }
    },
    async revoke(form, { call }) {
      await call('gateway.signing_keys.revoke', {
        kid: form.get('kid') ?? '',
        reason: form.get('reason') ?? '',
      })
      return { goTo: `${CHANGED}revoked` }
    },
    async rotate_authority(_form, { call }) {
      await call('gateway.authority.rotate', {})
      return { goTo: `${CHANGED}authority` }
    },
  },
  title: (_data, { language }) => gatewayKeysTexts[language].title,
  View({ data, page }) {
    const t = gatewayKeysTexts[page.language]
    return (
      <>
        <h1>{t.title}</h1>
        <Said word={data.said} words={t.said} />
        <Refusal page={page} />
        <section class="stack" aria-labelledby="signing">
          <h2 id="signing">{t.signing}</h2>
          <p class="muted">{t.signingHelp}</p>
          <Table
            page={page}
            label={t.signing}
            rows={data.keys}
            empty={t.noKeys}
            next={null}
            columns={[
              { head: t.kid, cell: ({ kid }) => <Ltr class="mono small">{kid}</Ltr> },
              {
                head: t.state,
                cell: ({ state }) => <State is={STATES[state]} page={page} words={t.states[state]} />,
              },
              { head: t.since, cell: ({ not_before }) => <Time at={not_before} /> },
              {
                head: t.until,
                cell: ({ retired_at, revoked_at, reason }) => (
                  <>
                    <Time at={revoked_at ?? retired_at} />{' '}
                    {reason !== null && <Foreign text={reason} max={200} />}
                  </>
                ),
              },
              {
                head: t.ends,
                cell: ({ kid, state }) =>
                  data.may_change && state !== 'revoked' ? (
                    <Ends kid={kid} state={state} page={page} />
                  ) : null,
              },
            ]}
          />
          {data.may_change && <Act page={page} action="rotate_signing" label={t.rotateSigning} />}
        </section>
        <section class="stack" aria-labelledby="wrapping">
          <h2 id="wrapping">{t.wrapping}</h2>
          <p class="muted">{t.wrappingHelp}</p>
          <Rotation rotation={data.rotation} page={page} />
          {data.may_change && data.rotation?.state !== 'running' && (
            <Act page={page} action="rotate_authority" label={t.rotateAuthority} isDangerous />
          )}
        </section>
      </>
    )
  },
})

const STATES = { signing: 'done', published: 'waiting', retired: 'unknown', revoked: 'failed' } as const

interface EndsProps {
  readonly kid: string
  readonly state: SigningKeyRecord['state']
  readonly page: ConsoleContext
}

/** What ends a key: its validity from now on, or that of everything it ever signed. */
function Ends({ kid, state, page }: EndsProps) {
  const t = gatewayKeysTexts[page.language]
  return (
    <details>
      <summary>{t.end}</summary>
      <div class="stack">
        {state === 'published' && <Act page={page} action="retire" values={{ kid }} label={t.retire} />}
        <Form page={page} action="revoke" values={{ kid }} class="stack">
          <Field page={page} name="reason" label={t.reason} help={t.reasonHelp} isRequired />
          <p>
            <button class="dangerous">{t.revoke}</button>
          </p>
        </Form>
      </div>
    </details>
  )
}

function Rotation({
  rotation,
  page,
}: {
  readonly rotation: AuthorityRotation | null
  readonly page: ConsoleContext
}) {
  const t = gatewayKeysTexts[page.language]
  if (!rotation) return <p class="console-empty">{t.neverRotated}</p>
  const { state, rewrapped, total, started_at, finished_at, kid, credential_ids } = rotation
  return (
    <dl class="pairs">
      <dt>{t.newest}</dt>
      <dd>
        <State
          is={state === 'done' ? 'done' : state === 'running' ? 'waiting' : 'failed'}
          page={page}
          words={t.rotations[state]}
        />{' '}
        <Time at={finished_at ?? started_at} />
      </dd>
      <dt>{t.progress}</dt>
      <dd>
        <Ltr>{`${rewrapped} / ${total ?? '?'}`}</Ltr>{' '}
        {state === 'running' && total !== null && (
          <progress value={rewrapped} max={Math.max(total, 1)} aria-label={t.progress} />
        )}
      </dd>
      {kid !== null && (
        <>
          <dt>{t.kid}</dt>
          <dd>
            <Ltr class="mono small">{kid}</Ltr>
          </dd>
        </>
      )}
      {credential_ids.length > 0 && (
        <>
          <dt>{t.unopened}</dt>
          <dd>
            {credential_ids.map((id) => (
              <>
                <a href={page.href(`/console/credentials/${id}`)}>
                  <Ltr>{id}</Ltr>
                </a>{' '}
              </>
            ))}
          </dd>
        </>
      )}
    </dl>
  )
}
