// A few numbers that a page begins with.
import type { ComponentChildren, VNode } from 'preact'

export const Figures = ({
  figures,
}: {
  readonly figures: readonly (readonly [name: string, value: ComponentChildren])[]
}): VNode => (
  <dl class="console-figures">
    {figures.map(([name, value]) => (
      <div>
        <dt class="small muted">{name}</dt>
        <dd class="figure-number">{value}</dd>
      </div>
    ))}
  </dl>
)
