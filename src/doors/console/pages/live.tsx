// What is decided now. Nothing is read for it: it is heard (../events.ts).
import { ERRORS } from '../../../core/errors.ts'
import { Island } from '../../site/components/island.tsx'
import { Link } from '../../site/components/link.tsx'
import { filterIn, type LiveFilter } from '../components/live/kept.ts'
import { Log } from '../components/live/log.tsx'
import { defineConsolePage } from '../ports.ts'
import { consoleTexts } from '../texts/common.ts'
import { liveTexts } from '../texts/live.ts'

interface Live {
  readonly filter: LiveFilter
  readonly tools: readonly string[]
}

export const page = defineConsolePage<Live>({
  isWide: true,
  load: ({ query, console: { registry } }) => ({
    filter: filterIn(query),
    tools: registry.tools.map(({ tool: { name } }) => name).toSorted(),
  }),
  title: (_data, { language }) => consoleTexts[language].pages.live,
  View({ data, page }) {
    const t = liveTexts[page.language]
    return (
      <>
        <h1>{consoleTexts[page.language].pages.live}</h1>
        <p class="lead">{t.lead}</p>
        {page.signedIn?.admin && <p class="muted small">{t.admin}</p>}
        <p class="without-script">
          {t.noScript} <Link to={page.href('/console/attempts')}>{t.attempts}</Link>
        </p>
        <Island
          name="console-live"
          page={page}
          component={Log}
          props={{
            ...data,
            language: page.language,
            t,
            codes: CODES,
            address: page.href('/console/events'),
            problem: page.href('/problems/{name}'),
            attempt: page.href('/console/attempts/{name}'),
            makeOne: page.href('/console/tools'),
          }}
        />
      </>
    )
  },
})

const CODES = Object.keys(ERRORS).toSorted()
