// A tool: what it is, and a form that tries it.
import { TryIt } from '../components/try-it.tsx'
import { definePage } from '../ports.ts'
import { tryFacts, tryTool } from '../trying.ts'

export const page = definePage({
  async load(request) {
    const entry = request.site.registry.find(request.params['name'] ?? '')
    if (!entry) return undefined
    const { name, title, summary } = entry.tool
    return {
      name,
      title,
      summary,
      facts: tryFacts(entry, request.site.config.mode),
      state: await tryTool(request, entry),
    }
  },
  title: ({ title }) => title,
  description: ({ summary }) => summary,
  isFixed: true,
  isWide: true,
  View: ({ data, page }) => (
    <>
      <h1>{data.title}</h1>
      <section id="try" class="stack">
        <TryIt facts={data.facts} state={data.state} page={page} />
      </section>
    </>
  ),
})
