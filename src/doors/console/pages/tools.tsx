// Every tool that somebody of this role may call: whatever the command line can do is one of these, also where it has no page of its own.
import { isForRole } from '../../../core/roles.ts'
import type { RegisteredTool } from '../../../core/registry.ts'
import type { SignedIn } from '../../../store/ports.ts'
import { English } from '../../site/components/english.tsx'
import { Link } from '../../site/components/link.tsx'
import { defineConsolePage } from '../ports.ts'
import { consoleTexts } from '../texts/common.ts'
import { toolsTexts } from '../texts/tools.ts'

interface Listed {
  readonly name: string
  readonly title: string
  readonly summary: string
  readonly toolset: string
  readonly changes: boolean
}

/** What is done with a service key; everything for everybody has its page on the site. */
const IN_CONSOLE = ['operator', 'admin', 'account', 'seller']

/** Whether somebody may call the tool from the console. */
export const isOffered = (
  { tool }: Pick<RegisteredTool, 'tool'>,
  { role, admin }: Pick<SignedIn, 'role' | 'admin'>,
): boolean =>
  IN_CONSOLE.includes(tool.caller) &&
  !tool.passes &&
  (tool.caller !== 'admin' || admin) &&
  (role === 'seller' ? tool.caller === 'seller' : isForRole(tool, role))

export const page = defineConsolePage<{ readonly tools: readonly Listed[] }>({
  isWide: true,
  load: ({ console: { registry }, signedIn }) => ({
    tools: registry.tools
      .filter((entry) => isOffered(entry, signedIn))
      .map(({ tool: { name, title, summary, brief, toolset, effects } }) => ({
        name,
        title,
        summary: brief ?? summary,
        toolset,
        changes: !effects.readOnly,
      })),
  }),
  title: (_data, { language }) => consoleTexts[language].pages.tools,
  View({ data: { tools }, page }) {
    const t = toolsTexts[page.language]
    return (
      <>
        <h1>{consoleTexts[page.language].pages.tools}</h1>
        <p class="lead">{t.lead}</p>
        {[...Map.groupBy(tools, ({ toolset }) => toolset)].map(([toolset, members]) => (
          <section>
            <h2>{t.toolsets[toolset as keyof typeof t.toolsets] ?? toolset}</h2>
            <ul class="console-tools">
              {members.map(({ name, title, summary, changes }) => (
                <li>
                  <Link to={page.href(`/console/tools/${name}`)}>
                    <English text={title} page={page} />
                  </Link>{' '}
                  {changes && <span class="tag">{t.changes}</span>}
                  <English text={summary} page={page} as="p" class="muted small" />
                </li>
              ))}
            </ul>
          </section>
        ))}
      </>
    )
  },
})
