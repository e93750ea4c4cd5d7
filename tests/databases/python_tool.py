#!/usr/bin/python3
"""Operations of the Python service on a database of any kind.

    tests/databases/python_tool.py [--newest] URL upgrade REVISION | start

--newest: its migrations also include the revision that came after Debian's release. start: what the service does with
its database when it starts."""

import os
import shutil
import sys
import tempfile

import alembic.command
import alembic.config
from oslo_config import cfg
from placement import conf, db_api, deploy
from placement.db.sqlalchemy import migration

NEWEST = '''
from alembic import op

revision = "a082b8bb98d0"
down_revision = "422ece571366"


def upgrade():
    op.drop_index("inventories_resource_provider_id_idx", table_name="inventories")
    op.drop_index("inventories_resource_provider_resource_class_idx", table_name="inventories")
    op.drop_index("ix_placement_aggregates_uuid", table_name="placement_aggregates")
    op.drop_index("resource_providers_name_idx", table_name="resource_providers")
    op.drop_index("resource_providers_uuid_idx", table_name="resource_providers")
'''


def scripts(directory, newest):
    """Alembic's configuration; the migrations are the service's own."""
    source = os.path.dirname(migration.__file__)
    shutil.copy(os.path.join(source, "alembic.ini"), directory)
    shutil.copytree(os.path.join(source, "alembic"), os.path.join(directory, "alembic"))
    if newest:
        with open(os.path.join(directory, "alembic/versions/a082b8bb98d0.py"), "w") as file:
            file.write(NEWEST)
    found = alembic.config.Config(os.path.join(directory, "alembic.ini"))
    found.set_main_option("script_location", os.path.join(directory, "alembic"))
    return found


def main():
    newest = sys.argv[1] == "--newest"
    url, *command = sys.argv[2:] if newest else sys.argv[1:]
    config = cfg.ConfigOpts()
    conf.register_opts(config)
    config.set_override("connection", url, "placement_database")
    config([], project="placement", default_config_files=[], default_config_dirs=[], use_env=False)
    db_api.configure(config)
    if command == ["start"]:
        deploy.update_database(config)
        return
    with tempfile.TemporaryDirectory() as directory:
        alembic.command.upgrade(scripts(directory, newest), command[1])


if __name__ == "__main__":
    main()
