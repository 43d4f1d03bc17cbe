// The inbox at the keyboard, and told of what arrives while it is open. Keys act on the request that has the focus, and can be turned off:
// whoever speaks to their machine presses many by accident.
import { listen } from './lib/events.ts'

const items = [...document.querySelectorAll<HTMLElement>('[data-item]')]
const keys = document.querySelector<HTMLInputElement>('[data-keys]')
const KEYS_OFF = 'console-keys-off'

if (keys) {
  keys.checked = localStorage.getItem(KEYS_OFF) === null
  keys.addEventListener('change', () =>
    keys.checked ? localStorage.removeItem(KEYS_OFF) : localStorage.setItem(KEYS_OFF, '1'),
  )
}

const isTyping = (target: EventTarget | null) =>
  target instanceof HTMLInputElement ||
  target instanceof HTMLTextAreaElement ||
  target instanceof HTMLSelectElement

addEventListener('keydown', (event) => {
  if (!keys?.checked || event.ctrlKey || event.metaKey || event.altKey || event.repeat) return
  if (isTyping(event.target) && event.target !== keys) return
  const at = items.findIndex((item) => item.contains(document.activeElement))
  if (event.key === 'j' || event.key === 'k') {
    const next = items[event.key === 'j' ? Math.min(at + 1, items.length - 1) : Math.max(at - 1, 0)]
    next?.focus()
    next?.scrollIntoView({ block: 'nearest' })
    event.preventDefault()
    return
  }
  const item = items[at]
  if (!item) return
  if (event.key === 'a' || event.key === 'r') {
    const button = item.querySelector<HTMLButtonElement>(`button[data-key="${event.key}"]`)
    // It is pressed once: the page that answers says what became of it.
    if (button && !button.disabled) button.click()
    event.preventDefault()
  } else if (event.key === 'Enter' && document.activeElement === item) {
    item.querySelector<HTMLAnchorElement>('a.inbox-open')?.click()
    event.preventDefault()
  }
})

// What arrives ------------------------------------------------------------------------------------------------------

const list = document.querySelector<HTMLElement>('[data-inbox]')
const arrived = document.querySelector<HTMLElement>('[data-arrived]')
const notify = document.querySelector<HTMLInputElement>('[data-notify]')
const notifyOff = document.querySelector<HTMLElement>('[data-notify-off]')
const NOTIFY = 'console-notify'
const known = new Set(items.map((item) => item.querySelector<HTMLInputElement>('[name=permit_id]')?.value))

const mayNotify = () => 'Notification' in window && Notification.permission === 'granted'

if (notify) {
  notify.checked = localStorage.getItem(NOTIFY) !== null && mayNotify()
  notify.addEventListener('change', () => {
    if (!notify.checked) return localStorage.removeItem(NOTIFY)
    const asked = 'Notification' in window ? Notification.requestPermission() : Promise.resolve('denied')
    void asked.then((answer) => {
      notify.checked = answer === 'granted'
      if (notifyOff) notifyOff.hidden = notify.checked
      if (notify.checked) localStorage.setItem(NOTIFY, '1')
    })
  })
}

const isWaiting = (news: unknown): news is { permit_id: string; host: string; method: string } =>
  typeof news === 'object' &&
  news !== null &&
  'permit_id' in news &&
  'state' in news &&
  news.state === 'pending_approval'

if (list)
  listen(
    { address: list.dataset['inbox'] ?? '', topics: ['approval'], evenHidden: true },
    {
      news(told) {
        const waiting = told.map(([, news]) => news).filter(isWaiting)
        const fresh = waiting.filter(({ permit_id }) => !known.has(permit_id))
        if (fresh.length === 0) return
        for (const { permit_id } of fresh) known.add(permit_id)
        if (arrived) arrived.hidden = false
        if (!notify?.checked || !mayNotify() || !document.hidden) return
        const [first] = fresh
        const note = new Notification(list.dataset['notice'] ?? '', {
          body: first ? `${first.method} ${first.host}` : '',
          tag: 'agent-gateway-inbox',
        })
        note.addEventListener('click', () => window.focus())
      },
    },
  )
