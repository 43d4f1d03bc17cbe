// Several forms of one thing, of which one is shown: radio buttons and the style sheet, so it works without a script, answers to the arrow
// keys and says to who hears it which one is chosen. On paper all of them are there.
import type { ComponentChildren, VNode } from 'preact'

/** The style sheet has a rule for each place (styles/tool.css). */
const MAX_TABS = 9

export interface Tab {
  readonly label: string
  readonly content: ComponentChildren
}

interface TabsProps {
  /** Names the choice to who hears the page. */
  readonly label: string
  /** One word, different from that of every other group of the page. */
  readonly name: string
  readonly tabs: readonly Tab[]
}

/** @throws {Error} for more tabs than the style sheet has rules for */
export function Tabs({ label, name, tabs }: TabsProps): VNode {
  if (tabs.length > MAX_TABS) throw new Error(`a group of tabs has at most ${MAX_TABS}`)
  return (
    <div class="tabs" role="group" aria-label={label}>
      {tabs.flatMap((tab, at) => [
        <input
          type="radio"
          name={name}
          id={`${name}-${at}`}
          value={tab.label}
          defaultChecked={at === 0}
          data-tab=""
        />,
        <label for={`${name}-${at}`} dir="auto">
          {tab.label}
        </label>,
      ])}
      <div class="tab-panels">
        {tabs.map((tab) => (
          <section aria-label={tab.label}>{tab.content}</section>
        ))}
      </div>
    </div>
  )
}
