"""Serves the Python placement service on loopback, to validate the tests against it.

    reference.py CONFIG_DIR PORT

wsgiref handles requests one at a time, with a corrected environment: no invented content type, the path as the client
sent it. The service is also mounted below /placement, as berth is by default.
"""

import os
import signal
import sys
import urllib.parse
from wsgiref import simple_server

MOUNT = '/placement'


class Handler(simple_server.WSGIRequestHandler):

    def get_environ(self):
        env = super().get_environ()
        if self.headers.get('content-type') is None:
            env.pop('CONTENT_TYPE', None)
        target = self.requestline.split(' ')[1]
        path, _, query = target.partition('?')
        path = urllib.parse.unquote(path, 'latin-1')
        env['SCRIPT_NAME'] = ''
        if path == MOUNT or path.startswith(MOUNT + '/'):
            env['SCRIPT_NAME'] = MOUNT
            path = path[len(MOUNT):]
        env['PATH_INFO'] = path
        env['QUERY_STRING'] = query
        return env

    def address_string(self):
        return self.client_address[0]

    def log_message(self, *args):
        pass


def main():
    os.environ['OS_PLACEMENT_CONFIG_DIR'] = sys.argv[1]
    from placement.wsgi import init_application
    application = init_application()
    server = simple_server.WSGIServer(('127.0.0.1', int(sys.argv[2])), Handler)
    server.set_app(application)
    signal.signal(signal.SIGTERM, lambda *args: os._exit(0))
    print('reference: ready', flush=True)
    server.serve_forever()


if __name__ == '__main__':
    main()
