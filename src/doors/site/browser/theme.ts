// Runs before anything is drawn: the colours that the visitor chose, and a mark for the style sheet that scripts run.
const root = document.documentElement
root.dataset['script'] = ''
try {
  const chosen = localStorage.getItem('theme')
  if (chosen === 'light' || chosen === 'dark') root.dataset['theme'] = chosen
} catch {
  // Storage may be forbidden; the system's colours are as good.
}
