// Stored credentials: what each is for, and whether it works.
import type { z } from 'zod'
import type { TokenHealth } from '../../../../schemas/egress.ts'
import type { egressCredentialsList } from '../../../../tools/egress-credentials-list.ts'
import { Foreign, Ltr } from '../../site/components/foreign.tsx'
import { Link } from '../../site/components/link.tsx'
import { State } from '../../site/components/state.tsx'
import { doneWord, Said } from '../components/said.tsx'
import { Table, Time } from '../components/table.tsx'
import { kindOf } from '../credentials/kinds.ts'
import { defineConsolePage } from '../ports.ts'
import { maySee } from '../routes.ts'
import { credentialTexts, fill } from '../texts/credentials.ts'

type Listed = z.infer<(typeof egressCredentialsList)['output']>
type Row = Listed['credentials'][number] & { readonly tokens: TokenHealth | null }

interface Data {
  readonly credentials: readonly Row[]
  readonly next: string | null
}

export const page = defineConsolePage<Data>({
  isWide: true,
  async load({ call, query, console: parts, signedIn }) {
    const before = query.get('before')
    const { credentials, next } = (await call('gateway.egress.credentials.list', {
      limit: 50,
      ...(before !== null && { before }),
    })) as Listed
    const health = await parts.services.egress.tokenHealth(signedIn.accountId, credentials)
    const rows = credentials.map((credential) => ({
      ...credential,
      tokens: health.get(credential.credential_id) ?? null,
    }))
    return { credentials: rows, next }
  },
  title: (_data, { language }) => credentialTexts[language].title,
  View({ data, page }) {
    const t = credentialTexts[page.language]
    const mayAdd = page.signedIn !== undefined && maySee('newCredential', page.signedIn)
    const add = mayAdd && (
      <Link to={page.href('/console/credentials/new')} class="button primary">
        {t.add}
      </Link>
    )
    return (
      <div class="stack">
        <div class="console-head">
          <div class="stack tight">
            <h1>{t.title}</h1>
            <p class="muted">{t.lead}</p>
          </div>
          {data.credentials.length > 0 && add}
        </div>
        <Said word={doneWord(page)} words={t.done} />
        <Table
          page={page}
          label={t.title}
          rows={data.credentials}
          next={data.next}
          empty={
            <div class="stack">
              <p>{t.empty}</p>
              <p>{add}</p>
            </div>
          }
          columns={[
            {
              head: t.label,
              cell: ({ credential_id, label }) => (
                <Link to={page.href(`/console/credentials/${credential_id}`)}>
                  <Foreign text={label} max={60} />
                </Link>
              ),
            },
            { head: t.provider, cell: ({ provider }) => <Ltr>{provider}</Ltr> },
            { head: t.hosts, cell: ({ hosts }) => <Ltr class="small">{shorten(hosts)}</Ltr> },
            {
              head: t.methods,
              cell: ({ methods }) => (
                <Ltr class="small">{methods.length === 6 ? '*' : methods.join(' ')}</Ltr>
              ),
            },
            { head: t.kind, cell: ({ settings }) => t.kinds[kindOf(settings)] },
            { head: t.version, isNumber: true, cell: ({ version }) => version },
            {
              head: t.state,
              cell: ({ revoked_at, tokens }) => {
                if (revoked_at !== null) return <State is="unknown" page={page} words={t.revoked} />
                if (tokens?.state === 'failing')
                  return (
                    <State is="failed" page={page} words={fill(t.failing, { n: String(tokens.failures) })} />
                  )
                return <State is="done" page={page} words={t.active} />
              },
            },
            { head: t.added, cell: ({ created_at }) => <Time at={created_at} /> },
          ]}
        />
      </div>
    )
  },
})

const shorten = (hosts: readonly string[]) =>
  hosts.length > 2 ? `${hosts.slice(0, 2).join(', ')} +${hosts.length - 2}` : hosts.join(', ')
