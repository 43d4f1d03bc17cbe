// How this gateway does, for everybody: a person who wonders whether it is them, and a program that watches.
import { Island } from '../components/island.tsx'
import { Board } from '../components/status/board.tsx'
import { definePage } from '../ports.ts'
import { readStatus } from '../status.ts'
import { statusTexts } from '../texts/status.ts'

export const page = definePage({
  isWide: true,
  load: ({ site }) => readStatus(site),
  title: (_data, { language }) => statusTexts[language].title,
  description: (_data, { language }) => statusTexts[language].description,
  View({ data, page }) {
    const t = statusTexts[page.language]
    return (
      <>
        <h1>{t.title}</h1>
        <Island
          name="status"
          page={page}
          component={Board}
          props={{
            status: data,
            language: page.language,
            address: page.href('/status'),
            problem: page.href('/problems/code').replace(/code$/, '{name}'),
            tool: page.href('/tools/name').replace(/name$/, '{name}'),
            catalogue: page.href('/catalogue'),
            keys: page.href('/.well-known/jwks.json'),
            t,
          }}
        />
      </>
    )
  },
})
