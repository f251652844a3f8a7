return { 'ok', sweep() }
