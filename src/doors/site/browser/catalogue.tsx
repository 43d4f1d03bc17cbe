// The catalogue as one types: the same search on the server, asked anew after each pause, and its answer drawn in place of what was there.
import { render } from 'preact'
import { Catalogue, type CatalogueList } from '../components/catalogue.tsx'
import type { Language } from '../routes.ts'

const PAUSE_MS = 120

const form = document.querySelector<HTMLFormElement>('.catalogue-form')
const place = document.querySelector<HTMLElement>('[data-catalogue]')

if (form && place) {
  const language = place.dataset['catalogue'] as Language
  const prefix = place.dataset['prefix'] ?? ''
  // Pages alone are linked to here; documents are named by whole addresses.
  const page = { language, href: (path: string) => prefix + path }
  let asking: AbortController | undefined
  let pause: ReturnType<typeof setTimeout> | undefined

  /** Address of the page as the form is filled in, without what says nothing. */
  const addressOf = () => {
    const query = new URLSearchParams()
    for (const [name, value] of new FormData(form))
      if (typeof value === 'string' && value.trim() !== '') query.set(name, value)
    return query.size === 0 ? form.action : `${form.action}?${query}`
  }

  const show = async () => {
    asking?.abort()
    asking = new AbortController()
    const address = addressOf()
    const { signal } = asking
    place.setAttribute('aria-busy', 'true')
    try {
      const answer = await fetch(address, { headers: { accept: 'application/json' }, signal })
      if (!answer.ok) return
      const list = (await answer.json()) as CatalogueList
      if (signal.aborted) return
      render(<Catalogue list={list} page={page} />, place)
      history.replaceState(undefined, '', address)
    } catch {
      // The button still asks for the page as a whole.
    } finally {
      if (!signal.aborted) place.removeAttribute('aria-busy')
    }
  }

  form.addEventListener('input', () => {
    clearTimeout(pause)
    pause = setTimeout(() => void show(), PAUSE_MS)
  })
  form.addEventListener('submit', (event) => {
    event.preventDefault()
    clearTimeout(pause)
    void show()
  })
}
