// Takes over what the server drew (components/island.tsx).
import { type ComponentType, h, hydrate } from 'preact'

/** Hydrates every island of this name on the page. */
export function mount<P extends object>(name: string, component: ComponentType<P>): void {
  for (const element of document.querySelectorAll<HTMLElement>(`[data-island="${name}"]`))
    hydrate(h(component, JSON.parse(element.dataset['props'] ?? '{}') as P), element)
}
