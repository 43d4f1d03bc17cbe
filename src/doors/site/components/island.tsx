// A part of a page that is alive: drawn here like everything else, and taken over by its script once that has loaded. Until then, and
// without a script, what was drawn is what there is.
import type { ComponentType, VNode } from 'preact'
import type { PageContext } from '../ports.ts'

interface IslandProps<P extends object> {
  /** Name of its script in browser/, without `.tsx`; that script mounts the same component under the same name. */
  readonly name: string
  readonly page: Pick<PageContext, 'needScript'>
  readonly component: ComponentType<P>
  /** Plain JSON: it travels in an attribute. */
  readonly props: P
}

/** Draws the component and leaves what its script needs to go on. */
export function Island<P extends object>({ name, page, component: Component, props }: IslandProps<P>): VNode {
  page.needScript(`${name}.js`)
  return (
    <div data-island={name} data-props={JSON.stringify(props)}>
      <Component {...props} />
    </div>
  )
}
