// The policies of the installation, in words.
import type { PolicyState } from '../../../../schemas/policy.ts'
import { Link } from '../../site/components/link.tsx'
import { State } from '../../site/components/state.tsx'
import { Statements } from '../components/policies/statements.tsx'
import { defineConsolePage } from '../ports.ts'
import { policyTexts } from '../texts/policies.ts'

interface Data {
  readonly policies: readonly PolicyState[]
}

export const page = defineConsolePage<Data>({
  load: async ({ call }) => (await call('gateway.policies.list', {})) as Data,
  title: (_data, { language }) => policyTexts[language].title,
  View({ data, page }) {
    const t = policyTexts[page.language]
    return (
      <div class="stack">
        <h1>{t.title}</h1>
        <p class="muted">{t.lead}</p>
        {data.policies.map(({ policy, problems, statements }) => (
          <section class="console-section">
            <div class="console-head">
              <h2>
                <Link to={page.href(`/console/policies/${policy}`)}>{t.names[policy] ?? policy}</Link>
              </h2>
              {problems.length > 0 ? (
                <State is="failed" page={page} words={t.broken} />
              ) : (
                <State is="done" page={page} words={t.inForce} />
              )}
            </div>
            <p class="muted small">{t.what[policy]}</p>
            <Statements page={page} statements={statements} />
          </section>
        ))}
      </div>
    )
  },
})
